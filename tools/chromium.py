"""Headless Chromium, driven by selenium; needs chromium, chromedriver and python3-selenium."""
import shutil

from selenium import webdriver
from selenium.webdriver.chrome.service import Service


def started(*arguments, logs=()):
    """A browser with these arguments beside what it needs here. `logs` are kinds whose entries are all kept."""
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium")
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", *arguments):
        options.add_argument(argument)
    if logs:
        options.set_capability("goog:loggingPrefs", dict.fromkeys(logs, "ALL"))
    return webdriver.Chrome(service=Service(shutil.which("chromedriver")), options=options)
