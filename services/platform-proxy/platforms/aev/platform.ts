import type { PlatformKind } from "../../adapter.js";
import { createOpenaevAdapter } from "./adapter.js";

/** What the proxy knows of the aev server's platform. */
export const platform: PlatformKind = { server: "aev", createAdapter: createOpenaevAdapter };
