// report: one page of HTML with findings, charts and tables of run records, made by the Python package.
#include "apps/frame/command.hpp"
#include "apps/frame/python_report.hpp"

namespace merganser::app {
namespace {

/// Options of the command report, filled by the option parser.
struct ReportCommand {
  std::vector<std::string> records;  ///< paths of records of any verbs
  std::string output;                ///< path of the page to write
  std::string by;                    ///< commit or time: draw a trend over it; empty: none
};

/// Lists the command-line options of report, with their help texts and checks, for the option parser.
template <class V>
void describe(ReportCommand& o, V&& option) {
  option.positional("RECORD", o.records, "records that --json wrote, of any verbs", Required{}, Reads{});
  option("output", o.output, "page to write", Letter{'o'}, Kind{"FILE"}, Required{}, Writes{});
  option("by", o.by, "draw timings as a trend over commits or times first, and the newest records in the other charts",
         Kind{"commit|time"}, ShownDefault{"none"});
}

/// Body of the command report: starts the Python program in place of this process.
int run(ReportCommand& o, const Invocation&) { run_python_report("report", o.records, o.output, o.by); }

constexpr std::string_view kReportText =
    "Writes one page of HTML that needs no network, from any records of any verbs: what was run where, what stands "
    "out\n"
    "with the intervals that it rests on, charts, and a table under each. Records that are broken, of another version "
    "or\n"
    "unknown are named, and the rest is shown. Needs Python with: pip install 'altair>=5' 'vl-convert-python>=1.6'.\n\n"
    "  merganser report bench.json topo.json -o report.html\n"
    "  merganser report old/*.json new/*.json --by commit -o trend.html\n";

}  // namespace

extern const Command report_command;
const Command report_command = make_command<ReportCommand, run>("report", "make one page of records", kReportText);

}  // namespace merganser::app
