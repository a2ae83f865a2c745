import { existsSync } from "node:fs";
import { type Browser, chromium } from "playwright-core";

const PLACES = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
const executablePath = PLACES.find((place) => existsSync(place));

/** Why tests in Chromium are skipped; undefined where they are not. */
export const noChromium: string | undefined = executablePath === undefined ? "Chromium is not installed" : undefined;

/** Starts Chromium without a window. */
export function startChromium(): Promise<Browser> {
  return chromium.launch({
    executablePath: executablePath as string,
    args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"],
  });
}
