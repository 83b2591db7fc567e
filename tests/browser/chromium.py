"""Where the browser is, and how it is started."""

from __future__ import annotations

import os
import shutil
from typing import NoReturn

import pytest

NAMED, REQUIRED = "FCPAIR_CHROMIUM", "FCPAIR_REQUIRE_BROWSER"
USUAL = "/usr/bin/chromium"
OTHERS = ("chromium", "chromium-browser", "google-chrome")
HOW_TO = f"install it (Debian: apt-get install chromium), or name it in {NAMED}"
# What Playwright switches off, of which Chromium would hear nothing: the last list of features is the one that counts.
OF_PLAYWRIGHT = (
    *("AvoidUnnecessaryBeforeUnloadCheckSync", "DestroyProfileOnBrowserClose", "HttpsUpgrades", "LensOverlay"),
    *("HttpsFirstBalancedModeAutoEnable", "MediaRouter", "PaintHolding", "ThirdPartyStoragePartitioning"),
    *("AvoidCorsURLLoaderRestartOnRedirect", "TcpPortRandomizationWin", "OptimizationHints", "AimEnabled"),
    *("NetworkTimeServiceQuerying", "PreconnectToSearch", "msForceBrowserSignIn"),
    "msEdgeUpdateLaunchServicesPreferredVersion",
)
# Pages of the browser's own, which it draws behind its address bar in each window: nobody sees them, and they cost
# more than the page that is looked at.
UNSEEN = ("WebUIOmniboxPopup", "WebUIOmniboxAimPopup")
ARGUMENTS = (
    f"--disable-features={','.join((*OF_PLAYWRIGHT, *UNSEEN))}",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",  # nothing but this machine can be reached
)


def lacking(what: str) -> NoReturn:
    """Skip a test for want of something; where the browser is required, fail it."""
    if os.environ.get(REQUIRED) == "1":
        pytest.fail(f"{REQUIRED} is 1, but {what}")
    pytest.skip(what)


def find_chromium() -> str:
    if named := os.environ.get(NAMED):
        return shutil.which(named) or lacking(f"{NAMED} names {named}, which is no program")
    found = shutil.which(USUAL) or next(filter(None, map(shutil.which, OTHERS)), None)
    return found or lacking(f"there is no chromium here: {HOW_TO}")
