import type { PlatformKind } from "../../adapter.js";
import { createCisoAdapter } from "./adapter.js";

/** What the proxy knows of the grc server's platform. */
export const platform: PlatformKind = { server: "grc", createAdapter: createCisoAdapter };
