// figures: the charts of run records as SVG and PDF for publications, made by the Python package.
#include "apps/frame/command.hpp"
#include "apps/frame/python_report.hpp"

namespace merganser::app {
namespace {

/// Options of the command figures, filled by the option parser.
struct FiguresCommand {
  std::vector<std::string> records;  ///< paths of records of any verbs
  std::string output;                ///< folder to write into; it is made
  std::string by;                    ///< commit or time: draw a trend over it; empty: none
};

/// Lists the command-line options of figures, with their help texts and checks, for the option parser.
template <class V>
void describe(FiguresCommand& o, V&& option) {
  option.positional("RECORD", o.records, "records that --json wrote, of any verbs", Required{}, Reads{});
  option("output", o.output, "folder to write into", Letter{'o'}, Kind{"DIR"}, Required{});
  option("by", o.by, "draw timings as a trend over commits or times first, and the newest records in the other charts",
         Kind{"commit|time"}, ShownDefault{"none"});
}

/// Body of the command figures: starts the Python program in place of this process.
int run(FiguresCommand& o, const Invocation&) { run_python_report("figures", o.records, o.output, o.by); }

constexpr std::string_view kFiguresText =
    "Writes the charts that report shows as SVG and PDF, at the width of one column and of two, in colours that people "
    "of\n"
    "any colour vision tell apart. Needs Python with: pip install 'altair>=5' 'vl-convert-python>=1.6'.\n\n"
    "  merganser figures bench.json topo.json -o figures\n";

}  // namespace

extern const Command figures_command;
const Command figures_command =
    make_command<FiguresCommand, run>("figures", "draw records as SVG and PDF", kFiguresText);

}  // namespace merganser::app
