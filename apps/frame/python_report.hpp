#pragma once
/// Starting of the Python program that makes reports, figures and pictures of run records (python/merganser/report).
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

/// Checks that the Python program of reports and the libraries that it draws with are there. Local; takes about a second.
/// @param what  subject of the message: "--picture slab.png"
/// @throws UsageError if they are not
void check_python_report(const std::string& what);

/// Draws a run record (.json), or converts a drawing (.svg), by the Python program of reports. Local; starts a process.
/// @param output  file to write, SVG, PNG or PDF by its suffix; it appears whole or not at all
/// @throws UsageError if the program is not there @throws InputError if it fails, with what it says
void draw_by_python(const std::string& source, const std::string& output);

}  // namespace merganser::app
