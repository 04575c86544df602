"""The app: every command under its name, in the order of the help page."""

from __future__ import annotations

from importlib.metadata import version
from typing import Annotated, Any

import typer

from hinge.cli._console import write_text
from hinge.cli._settings import add_command
from hinge.cli.accelerate import AccelerateSettings, accelerate
from hinge.cli.convert import ConvertSettings, convert
from hinge.cli.demo import DemoSettings, demo
from hinge.cli.evaluate import EvaluateSettings, evaluate
from hinge.cli.export import ExportSettings, export
from hinge.cli.import_model import ImportSettings, import_model
from hinge.cli.inspect import InspectSettings, inspect
from hinge.cli.path import PathSettings, path
from hinge.cli.predict import PredictSettings, predict
from hinge.cli.svm_predict import SvmPredictSettings, svm_predict
from hinge.cli.svm_train import (
    LiblinearTrainSettings,
    SvmTrainSettings,
    liblinear_train,
    svm_train,
)
from hinge.cli.train import TrainSettings, train
from hinge.cli.verify import VerifySettings, verify

app = typer.Typer(
    name="hinge",
    help="Support vector machines with a proof of how far from optimal they are.",
    epilog="Exit codes: 0 solved, 1 failed, 2 wrong command line, 3 finished but not certified, "
    "130 stopped by Ctrl-C.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["--help", "-h"], "max_content_width": 100},
)


def _show_version(wanted: bool) -> None:
    if wanted:
        write_text(f"hinge {version('hinge')}\n")
        raise typer.Exit


@app.callback()
def _root(
    show_version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_show_version, is_eager=True, help="Show the version and exit."
        ),
    ] = False,
    debug: Annotated[
        bool,
        typer.Option("--debug", help="Show the traceback of an error; may stand anywhere."),
    ] = False,
) -> None:
    """Take the options that stand before a command; both are dealt with elsewhere."""
    del show_version, debug


_CLASSIC = "In the style of LIBSVM and LIBLINEAR"
# Their options are one letter with a hyphen, -h among them; they are read by hinge.cli._letters.
_WORDS = {"ignore_unknown_options": True, "help_option_names": ["--help"]}

add_command(app, "train", TrainSettings, train)
add_command(app, "path", PathSettings, path)
add_command(app, "predict", PredictSettings, predict)
add_command(app, "evaluate", EvaluateSettings, evaluate)
add_command(app, "inspect", InspectSettings, inspect)
add_command(app, "verify", VerifySettings, verify)
add_command(app, "accelerate", AccelerateSettings, accelerate)
add_command(app, "convert", ConvertSettings, convert)
add_command(app, "import-model", ImportSettings, import_model)
add_command(app, "export", ExportSettings, export)
add_command(app, "demo", DemoSettings, demo)
_DETAILS: dict[str, Any] = {"rich_help_panel": _CLASSIC, "context_settings": _WORDS}
add_command(app, "svm-train", SvmTrainSettings, svm_train, **_DETAILS)
add_command(app, "liblinear-train", LiblinearTrainSettings, liblinear_train, **_DETAILS)
add_command(app, "svm-predict", SvmPredictSettings, svm_predict, **_DETAILS)
