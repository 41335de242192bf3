"""Command line of reports: python -m merganser.report, or python3 with the path of this folder, without the rest of the package."""
import sys


def _load_main():
    """Returns the function main() of the command line. Run by path, the package is loaded under a name of its own, because
    importing merganser would load the compiled extension."""
    if __package__:
        from .command import main

        return main
    import importlib.util
    from pathlib import Path

    folder = Path(__file__).resolve().parent
    spec = importlib.util.spec_from_file_location("merganser_report", folder / "__init__.py",
                                                  submodule_search_locations=[str(folder)])
    package = importlib.util.module_from_spec(spec)
    sys.modules["merganser_report"] = package
    spec.loader.exec_module(package)
    return importlib.import_module("merganser_report.command").main


if __name__ == "__main__":
    sys.exit(_load_main()(sys.argv[1:]))
