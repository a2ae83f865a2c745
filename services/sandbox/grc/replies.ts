import type { Json } from "./world.js";

/** What is answered: JSON, a page of HTML, or nothing. */
export interface Reply {
  readonly status: number;
  readonly json?: Json;
  readonly html?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export const ok = (json: Json, status = 200): Reply => ({ status, json });
export const detail = (status: number, text: string): Reply => ({ status, json: { detail: text } });
export const refused = (json: Json, status = 400): Reply => ({ status, json });
export const NOTHING: Reply = { status: 204 };
export const NOT_A_UUID = detail(404, "Not found.");
export const FORBIDDEN = detail(403, "You do not have permission to perform this action.");

const page = (title: string, text: string) =>
  `\n<!doctype html>\n<html lang="en">\n<head>\n  <title>${title}</title>\n</head>\n<body>\n  <h1>${title}</h1><p>${text}</p>\n</body>\n</html>\n`;

export const NO_SUCH_PATH: Reply = {
  status: 404,
  html: page("Not Found", "The requested resource was not found on this server."),
};
export const BROKEN: Reply = { status: 500, html: page("Server Error (500)", "") };
/** A right to add is missing where the object would go. */
export const FOLDER_REFUSED = refused({ folder: "You do not have permission to add objects in this folder" }, 403);
