import type { System } from "../../packages/clients/client";

/** The operating system of the visitor, as the browser names it; Linux if it names none of the others. */
export function systemOf(userAgent: string): System {
  if (/Windows/.test(userAgent)) return "windows";
  return /Mac OS X|Macintosh/.test(userAgent) ? "macos" : "linux";
}
