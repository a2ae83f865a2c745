import { parsedUrl } from "../parsed-url.js";
import type { Guard, RefusedAddressError } from "./guard.js";

// URLs as users, platforms and administrators write them down. Where they lead is checked again whenever they are
// dialled.

/** What is wrong with the form of a platform's URL, in words that follow its name; undefined if nothing is. */
export function platformUrlProblem(text: string): string | undefined {
  const hasMore = /[?#]/.test(text) ? "must have neither a query (?) nor a fragment (#)" : undefined;
  return formProblem(text) ?? hasMore;
}

/** What is wrong with the form of a URL that users have us call, in words that follow its name; undefined if nothing is. */
export function calledUrlProblem(text: string): string | undefined {
  return formProblem(text) ?? (text.includes("#") ? "must have no fragment (#)" : undefined);
}

/** Why a URL of good form is not called, before its name is looked up; undefined if it may be. */
export function refusalOf(guard: Guard, text: string): RefusedAddressError | undefined {
  const { host, port } = targetOf(text);
  return guard.ofHost(host, port);
}

/** The host and the port of a URL of good form. */
export function targetOf(text: string): { readonly host: string; readonly port: number } {
  const { hostname, port, protocol } = new URL(text);
  return { host: hostname, port: port === "" ? (protocol === "https:" ? 443 : 80) : Number(port) };
}

/**
 * A URL of good form in its one spelling: two that lead to the same place of the same server are equal, however their
 * letters, default ports, dots and last slashes are written.
 */
export function spellingOf(text: string): string {
  const { protocol, hostname, port, pathname } = new URL(text);
  return `${protocol}//${hostname.replace(/\.+$/, "")}:${port}${pathname.replace(/\/+$/, "")}`;
}

function formProblem(text: string): string | undefined {
  const url = parsedUrl(text);
  if (url === undefined || !/^https?:\/\/[^/\\\s]/i.test(text))
    return "must be a URL that begins with http:// or https://";
  // The parser drops white space, reads \ as /, and forgets an empty query.
  if (/[^\x21-\x7e]|\\/.test(text)) return "must be written in ASCII, without white space and backslashes";
  if (url.username !== "" || url.password !== "" || /^\w+:\/\/[^/?#]*@/.test(text))
    return "must not contain a user name or a password";
  if (url.port === "0" || /^\w+:\/\/[^/?#]*:(?:[/?#]|$)/.test(text)) return "must have a port from 1 to 65535, or none";
  return undefined;
}
