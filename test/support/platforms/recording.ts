import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import type { Shape } from "./shape.js";

/** What was asked of a real platform, as whom, and what it answered: one line of a recording. */
export interface Exchange {
  /** Its number among all that were recorded; in the order in which they were made. */
  readonly line: number;
  /** What was tried. */
  readonly name: string;
  readonly note?: string;
  /** The user, by the first part of the e-mail address. */
  readonly as: string;
  readonly method: string;
  readonly path: string;
  readonly query?: Readonly<Record<string, string | readonly string[]>>;
  /** Header fields beyond those that every request has. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The JSON that was sent; a text where it was none. */
  readonly body?: unknown;
  /** Of a GraphQL request, in place of a body. */
  readonly document?: string;
  readonly variables?: Readonly<Record<string, unknown>>;
  readonly status: number;
  /** The JSON that came back, long texts and lists cut ("…"); of a recording that keeps what was answered. */
  readonly answer?: unknown;
  /** The shape of what came back; of a recording that keeps no more than that. */
  readonly shape?: Shape;
  /** What came back where it was no JSON, with its media type. */
  readonly text?: string;
  readonly type?: string;
  /** Where a redirection led to. */
  readonly location?: string;
  /** Ids that the answer gave out, by where they stand in it ("data.add.id"); later lines ask for them. */
  readonly made?: readonly (readonly [path: string, id: string])[];
}

/** The first line of a recording. */
export interface Header {
  readonly platform: string;
  /** The version that answered: a release, or a commit. */
  readonly version: string;
  /** How many exchanges were made in all, of which these are a part. */
  readonly recorded?: number;
  /** How many follow. */
  readonly exchanges: number;
  /** Of the lines that follow and of the shapes, so that nobody changes an answer in passing. */
  readonly sha256: string;
  /** What is known of the ids in the requests, for choosing objects of the same kind. */
  readonly ids?: Readonly<Record<string, IdFacts>>;
  /** The shapes that exchanges name by their place here. */
  readonly shapes?: readonly Shape[];
}

/** What a recorded id was of; `of` names the internal id of a STIX id. */
export interface IdFacts {
  readonly type?: string;
  readonly definition?: string;
  readonly value?: string;
  /** Of an object that only some may see. */
  readonly hidden?: boolean;
  /** Of an object with a high confidence. */
  readonly high?: boolean;
  readonly of?: string;
}

/** Exchanges with a real platform, in the order in which they were made. */
export interface Recording {
  readonly header: Header;
  readonly exchanges: readonly Exchange[];
}

/**
 * Reads recordings/<name>.jsonl.
 * @throws Error where its lines are not those that the header was written for.
 */
export function readRecording(name: string): Recording {
  const text = readFileSync(new URL(`./recordings/${name}.jsonl`, import.meta.url), "utf8");
  const end = text.indexOf("\n") + 1;
  const header = JSON.parse(text.slice(0, end)) as Header;
  const lines = text.slice(end);
  const shapes = header.shapes === undefined ? "" : JSON.stringify(header.shapes);
  const found = createHash("sha256").update(lines).update(shapes).digest("hex");
  if (found !== header.sha256) throw new Error(`${name}.jsonl was changed: its lines hash to ${found}`);
  const exchanges = lines
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Exchange)
    .map((one) => (typeof one.shape === "number" ? { ...one, shape: header.shapes![one.shape]! } : one));
  return { header, exchanges };
}

/** The exchanges of a recording whose names are unique, by name. @throws Error where none has the name asked for. */
export function readNamed(name: string): (exchange: string) => Exchange {
  const byName = new Map(readRecording(name).exchanges.map((exchange) => [exchange.name, exchange]));
  return (wanted) => {
    const found = byName.get(wanted);
    if (found === undefined) throw new Error(`${name}.jsonl has no exchange named ${wanted}`);
    return found;
  };
}
