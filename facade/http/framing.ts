// What two readers of one request, a proxy and we, could understand differently
// is not understood at all (RFC 9112 sections 3.2, 6.1 and 6.3). What the parser
// of an edge itself refuses does not come this far: see docs/operations.md.

/** What is wrong with a header that came again, as a sentence; undefined where it may. */
export function faultOfRepeated(name: string): string | undefined {
  switch (name) {
    case "host":
      return "The request has two Host headers.";
    case "transfer-encoding":
      return "The request has two Transfer-Encoding headers.";
    case "content-length":
      return "The request has two Content-Length headers.";
    default:
      return undefined;
  }
}

/** What is wrong with how a request says where its body ends, as a sentence; undefined where nothing is. */
export function faultOfFraming(headers: Readonly<Record<string, string | undefined>>): string | undefined {
  if (headers.trailer !== undefined) return "Trailers are not supported: send their fields as headers.";
  const length = headers["content-length"];
  if (length !== undefined && length !== "") return undefined;
  const coding = headers["transfer-encoding"];
  if (coding !== undefined && coding.toLowerCase() !== "chunked")
    return "The only Transfer-Encoding that is supported is 'chunked'.";
  return length === "" ? "Content-Length is empty." : undefined;
}
