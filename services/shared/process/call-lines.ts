import { pino } from "pino";
import { jsonString } from "../json-string.js";
import { type Log, writeLine } from "./log.js";

/** What the line of a call says. Every field is ours, or cut: each is short, and none is one that is redacted. */
export interface CallLine {
  /** ok, or the code of its error. */
  readonly code: string;
  /** How long it took, in milliseconds. */
  readonly ms: number;
  readonly caller?: string | undefined;
  readonly key?: string | undefined;
  readonly account?: string | undefined;
  readonly trace?: string | undefined;
  /** Set if it is of interest to an audit; then also the names of its arguments, and what it was about. */
  readonly audit?: true | undefined;
  /** Names of fields of our API, in which nothing has to be escaped. */
  readonly args?: readonly string[] | undefined;
  readonly target?: string | undefined;
}

/**
 * Writes the lines of calls of an rpc, equal to those of pino. The fields of such a line are known, so that it takes 0.6 µs; pino,
 * which looks at each field, takes 2.0.
 */
export function callLines(log: Log, rpc: string, level: "debug" | "info"): (line: CallLine) => void {
  const beginning = `{"level":${pino.levels.values[level]},"time":`;
  const bindings = JSON.stringify({ ...log.bindings(), rpc }).slice(1, -1);
  const end = `,"msg":${jsonString(rpc)}}`;
  return ({ code, ms, caller, key, account, trace, audit, args, target }) => {
    if (!log.isLevelEnabled(level)) return;
    let text = `${beginning}${Date.now()},${bindings},"code":${jsonString(code)},"ms":${ms}`;
    if (caller !== undefined) text += `,"caller":${jsonString(caller)}`;
    if (key !== undefined) text += `,"key":${jsonString(key)}`;
    if (account !== undefined) text += `,"account":${jsonString(account)}`;
    if (trace !== undefined) text += `,"trace":${jsonString(trace)}`;
    if (audit) text += ',"audit":true';
    if (args !== undefined) text += args.length === 0 ? ',"args":[]' : `,"args":["${args.join('","')}"]`;
    if (target !== undefined) text += `,"target":${jsonString(target)}`;
    writeLine(log, text + end);
  };
}
