import { parsedUrl } from "../../shared/parsed-url.js";

const MAX_LENGTH = 1_000;

/**
 * Where a browser goes once somebody is signed in: a path below `{base}/oauth/`, in its one spelling.
 *
 * @returns undefined for whatever else, such as an address of another host.
 */
export function returnPathOf(text: string, baseUrl: string): string | undefined {
  if (text.length > MAX_LENGTH || !/^\/[\x21-\x7e]*$/.test(text) || text.includes("\\")) return undefined;
  const base = new URL(baseUrl);
  const url = parsedUrl(text, base.origin);
  if (url === undefined) return undefined;
  // Dots are resolved: the path that is looked at is the one that is opened.
  const { origin, pathname, search } = url;
  const below = ["oauth", "console"].map((part) => `${base.pathname.replace(/\/+$/, "")}/${part}/`);
  const isPage = origin === base.origin && below.some((start) => pathname.startsWith(start));
  return isPage ? `${pathname}${search}` : undefined;
}
