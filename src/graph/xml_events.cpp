#include "graph/xml_events.hpp"

#include <expat.h>
#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <memory>
#include <new>

namespace tyche {

namespace {

constexpr int kDeepest = 64;

std::string_view local_name(std::string_view name) {
  const std::size_t colon = name.rfind(':');
  return colon == std::string_view::npos ? name : name.substr(colon + 1);
}

/// One parse. No exception may pass through expat's frames: the first is kept, and the parser stopped.
class Parse {
 public:
  Parse(std::string_view name, XmlHandler& handler)
      : parser_(XML_ParserCreate(nullptr)), name_(name), handler_(handler) {
    if (!parser_) throw std::bad_alloc();
    XML_SetUserData(parser_.get(), this);
    XML_SetElementHandler(
        parser_.get(),
        [](void* self, const XML_Char* element, const XML_Char** pairs) {
          static_cast<Parse*>(self)->guarded([&](Parse& parse) {
            if (++parse.depth_ > kDeepest) parse.here().fail(fmt::format("elements nest deeper than {}", kDeepest));
            parse.handler_.start(local_name(element), XmlAttributes(pairs), parse.here());
          });
        },
        [](void* self, const XML_Char* element) {
          static_cast<Parse*>(self)->guarded([&](Parse& parse) {
            --parse.depth_;
            parse.handler_.end(local_name(element), parse.here());
          });
        });
    XML_SetCharacterDataHandler(parser_.get(), [](void* self, const XML_Char* text, int length) {
      static_cast<Parse*>(self)->guarded([&](Parse& parse) {
        parse.handler_.text({text, static_cast<std::size_t>(length)}, parse.here());
      });
    });
    XML_SetStartDoctypeDeclHandler(
        parser_.get(), [](void* self, const XML_Char*, const XML_Char*, const XML_Char*, int) {
          static_cast<Parse*>(self)->guarded([](Parse& parse) {
            parse.here().fail("document type declarations (<!DOCTYPE …>) are not read; graphs need none");
          });
        });
  }

  void feed(std::string_view bytes, bool last) {
    const auto status = XML_Parse(parser_.get(), bytes.data(), static_cast<int>(bytes.size()), last ? 1 : 0);
    if (thrown_) std::rethrow_exception(thrown_);
    if (status != XML_STATUS_OK) {
      here().fail(fmt::format("not XML: {}", XML_ErrorString(XML_GetErrorCode(parser_.get()))));
    }
  }

 private:
  struct Free {
    void operator()(XML_ParserStruct* parser) const { XML_ParserFree(parser); }
  };

  template <class Call>
  void guarded(Call call) {
    if (thrown_) return;
    try {
      call(*this);
    } catch (...) {
      thrown_ = std::current_exception();
      XML_StopParser(parser_.get(), XML_FALSE);
    }
  }
  [[nodiscard]] Where here() const { return {name_, "line", XML_GetCurrentLineNumber(parser_.get())}; }

  std::unique_ptr<XML_ParserStruct, Free> parser_;
  std::string_view name_;
  XmlHandler& handler_;
  std::exception_ptr thrown_;
  int depth_ = 0;
};

}  // namespace

std::optional<std::string_view> XmlAttributes::find(std::string_view name) const {
  for (const char** pair = pairs_; *pair != nullptr; pair += 2) {
    if (name == pair[0]) return pair[1];
  }
  return std::nullopt;
}

void parse_xml(std::string_view bytes, std::string_view name, XmlHandler& handler) {
  constexpr std::size_t kPiece = std::size_t{1} << 20;
  Parse parse(name, handler);
  do {
    const std::string_view piece = bytes.substr(0, kPiece);
    bytes.remove_prefix(piece.size());
    parse.feed(piece, bytes.empty());
  } while (!bytes.empty());
}

}  // namespace tyche
