# Manual pages and completion of shells, written by the program itself from the declarations of its commands, and installed
# where Debian's man, bash, zsh and fish look.
if(CMAKE_CROSSCOMPILING)
  return() # the program is not one of this machine's
endif()
set(manual ${CMAKE_CURRENT_BINARY_DIR}/manual)
add_custom_command(OUTPUT ${manual}/made
  COMMAND ${CMAKE_COMMAND} -DPROGRAM=$<TARGET_FILE:tyche_cli> -DOUT=${manual}
    -P ${CMAKE_CURRENT_SOURCE_DIR}/cmake/manual.cmake
  DEPENDS tyche_cli cmake/manual.cmake COMMENT "Writing manual pages and completions" VERBATIM)
add_custom_target(tyche_manual ALL DEPENDS ${manual}/made)
install(DIRECTORY ${manual}/man1 DESTINATION ${CMAKE_INSTALL_MANDIR} OPTIONAL)
foreach(place "bash/tyche bash-completion/completions" "zsh/_tyche zsh/vendor-completions"
    "fish/tyche.fish fish/vendor_completions.d")
  string(REGEX MATCH "^([^ ]+) (.*)$" found ${place})
  install(FILES ${manual}/${CMAKE_MATCH_1} DESTINATION ${CMAKE_INSTALL_DATADIR}/${CMAKE_MATCH_2} OPTIONAL)
endforeach()
