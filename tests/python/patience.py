"""How much longer than on a machine of its own a test waits for a program: MERGANSER_TEST_PATIENCE."""
import os

PATIENCE = int(os.environ.get("MERGANSER_TEST_PATIENCE", "1"))
