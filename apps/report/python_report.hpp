#pragma once
/// Starting of the Python program that makes reports and figures of run records (python/merganser/report).
#include <string>
#include <vector>

namespace merganser::app {

/// Replaces this process by the Python program of reports: its folder beside this program, else the module merganser.report of the
/// Python on PATH. Nothing is taken from the working folder. Local; does not return.
/// @param verb     report or figures
/// @param records  paths of run records, at least one
/// @param output   path of the page, or of the folder for figures
/// @param by       commit or time: what a trend is drawn over; empty: no trend
/// @throws UsageError for another `by`, or if there is no Python that can run it
[[noreturn]] void run_python_report(const std::string& verb, const std::vector<std::string>& records,
                                    const std::string& output, const std::string& by);

}  // namespace merganser::app
