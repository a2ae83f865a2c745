import type { Contents } from "../../../clients/packages/contents.js";

/** A key, as a package may hold one. */
export const KEY = "slp_abcdefghij_0123456789012345678901234567890123456789012";

/** A small package. */
export const CONTENTS: Contents = {
  server: "cti",
  serviceName: "Sallyport",
  subject: "threat intelligence",
  topics: ["malware", "indicators"],
  url: "https://mcp.example.com/mcp/cti",
  tools: [
    { name: "search", description: "Finds entities: by name, or by value.", readOnly: true, toolset: "search" },
    { name: "create_note", description: "Writes a note.", readOnly: false, toolset: "note" },
  ],
  guidance: [],
  serviceVersion: "0.2.0",
  homepage: "https://mcp.example.com",
  key: undefined,
};
