// What two readers of one request, a proxy and we, could understand differently
// is not understood at all (RFC 9112 sections 3.2, 6.1 and 6.3). What the parser
// of an edge itself refuses does not come this far: see docs/operations.md.

/** What is wrong with a header that came again, as a sentence; undefined where it may. */
export function faultOfRepeated(name: string): string | undefined {
  switch (name) {
    case "host":
      return "Host is given twice.";
    case "transfer-encoding":
      return "Transfer-Encoding is given twice.";
    case "content-length":
      return "Content-Length is given twice.";
    default:
      return undefined;
  }
}

/** What is wrong with how a request says where its body ends, as a sentence; undefined where nothing is. */
export function faultOfFraming(headers: Readonly<Record<string, string | undefined>>): string | undefined {
  if (headers.trailer !== undefined) return "Trailer is not served: send the fields as headers.";
  const length = headers["content-length"];
  if (length !== undefined && length !== "") return undefined;
  const coding = headers["transfer-encoding"];
  if (coding !== undefined && coding.toLowerCase() !== "chunked") return "Transfer-Encoding may be 'chunked' only.";
  return length === "" ? "Content-Length is empty." : undefined;
}
