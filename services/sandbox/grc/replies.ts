import type { Json } from "./world.js";

/** What is answered: JSON, a page of HTML, or nothing. */
export interface Reply {
  readonly status: number;
  readonly json?: Json;
  readonly html?: string;
  /** A file, in place of them. */
  readonly file?: { readonly bytes: Uint8Array; readonly mediaType: string };
  readonly headers?: Readonly<Record<string, string>>;
}

/** A success in JSON. */
export const ok = (json: Json, status = 200): Reply => ({ status, json });
/** A refusal in one sentence. */
export const detail = (status: number, text: string): Reply => ({ status, json: { detail: text } });
/** A refusal by field. */
export const refused = (json: Json, status = 400): Reply => ({ status, json });
/** 204, as after a deletion. */
export const NOTHING: Reply = { status: 204 };
/** 404 for an id that is no UUID. */
export const NOT_A_UUID = detail(404, "Not found.");
/** 403 for a right that is missing. */
export const FORBIDDEN = detail(403, "You do not have permission to perform this action.");

const page = (title: string, text: string) =>
  `\n<!doctype html>\n<html lang="en">\n<head>\n  <title>${title}</title>\n</head>\n<body>\n  <h1>${title}</h1><p>${text}</p>\n</body>\n</html>\n`;

/** 404 as HTML, for a path that is not there. */
export const NO_SUCH_PATH: Reply = {
  status: 404,
  html: page("Not Found", "The requested resource was not found on this server."),
};
/** 500 as HTML, for what the platform does not foresee. */
export const BROKEN: Reply = { status: 500, html: page("Server Error (500)", "") };
/** A right to add is missing where the object would go. */
export const FOLDER_REFUSED = refused({ folder: "You do not have permission to add objects in this folder" }, 403);
