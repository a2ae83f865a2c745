import { expect, test } from "vitest";
import { readHeaders, readReceiver } from "../../../services/launcher/receiver-setting.js";

test.each([
  "https://collector.example.com:4318/v1/logs",
  "tls://siem.example.com:6514?ca=/etc/siem-ca.pem",
  "file:///var/log/sallyport/audit.jsonl",
])("%s is a receiver", (text) => {
  expect(readReceiver(text).href).toContain("/");
});

test.each(["syslog.example.com", "udp://siem:514", "file://host/path", "file:///", "tls://", "https://a.example/#x"])(
  "%s is refused",
  (text) => {
    expect(() => readReceiver(text)).toThrow("must be URLs such as https://collector.example.com:4318/v1/logs");
  },
);

test("a URL has no credential", () => {
  expect(() => readReceiver("https://ana:secret@collector.example.com/v1/logs")).toThrow("AUDIT_RECEIVER_HEADERS");
});

test("headers are names and values", () => {
  expect(readHeaders("Authorization=Bearer a=b, X-Scope=prod")).toEqual({
    ...{ authorization: "Bearer a=b", "x-scope": "prod" },
  });
  for (const text of ["", "Bearer abc", "=x", "a b=c"])
    expect(() => readHeaders(text)).toThrow("must be headers such as");
});
