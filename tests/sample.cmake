# SPDX-License-Identifier: Apache-2.0
# Read by ctest: of the tests in ${tests}, gives all but a sample the label `nightly`. Of each suite, which is a file or a table, the sample
# has the first test and each of ${every} behind it, in the order in which they are written.
set(suite)
foreach(test ${tests})
  string(REGEX REPLACE "[.][^.]*$" "" own ${test})
  if(NOT own STREQUAL suite)
    set(suite ${own})
    set(number 0)
  endif()
  math(EXPR rest "${number} % ${every}")
  math(EXPR number "${number} + 1")
  if(rest)
    set_tests_properties(${test} PROPERTIES LABELS "netns;nightly")
  endif()
endforeach()
