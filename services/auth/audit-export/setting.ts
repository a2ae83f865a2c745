import { fileURLToPath } from "node:url";
import { jsonLines } from "./json-lines.js";
import { otlpLogs } from "./otlp-logs.js";
import type { AuditReceiver } from "./receiver.js";
import { syslog } from "./syslog.js";

/** Where the audit is sent, as settings have it. */
export interface AuditExportSettings {
  readonly receivers: readonly URL[];
  /** Of requests to receivers of OTLP logs. */
  readonly headers: Readonly<Record<string, string>>;
  /** The name of this deployment. */
  readonly serviceName: string;
}

/** The schemes of receivers' URLs. */
export type ReceiverScheme = "https:" | "http:" | "tls:" | "file:";

type Open = (url: URL, settings: AuditExportSettings) => AuditReceiver;

/** What each scheme of a receiver's URL means. */
const SCHEMES: Readonly<Record<ReceiverScheme, Open>> = {
  "https:": (url, { headers, serviceName }) => otlpLogs(url, headers, serviceName),
  "http:": (url, { headers, serviceName }) => otlpLogs(url, headers, serviceName),
  "tls:": syslog,
  "file:": (url) => jsonLines(fileURLToPath(url)),
};

/** Opens what a URL names. */
export function openReceiver(url: URL, settings: AuditExportSettings): AuditReceiver {
  return SCHEMES[url.protocol as ReceiverScheme](url, settings);
}
