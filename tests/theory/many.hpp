#pragma once
// rapidcheck properties with a chosen number of cases, at full size from the first one.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <sstream>

namespace tyche::theory::test {

template <class Testable>
void check_many(int cases, Testable&& testable) {
  rc::detail::TestMetadata metadata;
  metadata.id = metadata.description = ::testing::UnitTest::GetInstance()->current_test_info()->name();
  rc::detail::TestParams params = rc::detail::configuration().testParams;
  params.maxSuccess = std::max(params.maxSuccess, cases);
  const auto result = rc::detail::checkTestable(std::forward<Testable>(testable), metadata, params);
  std::ostringstream text;
  rc::detail::printResultMessage(result, text);
  if (!result.template is<rc::detail::SuccessResult>()) FAIL() << text.str();
  if (!result.template get<rc::detail::SuccessResult>().distribution.empty()) std::cout << text.str() << std::endl;
}

}  // namespace tyche::theory::test
