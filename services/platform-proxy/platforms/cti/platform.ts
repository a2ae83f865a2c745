import type { PlatformKind } from "../../adapter.js";
import { createOpenctiAdapter } from "./adapter.js";

/** What the proxy knows of the cti server's platform. */
export const platform: PlatformKind = { server: "cti", createAdapter: createOpenctiAdapter };
