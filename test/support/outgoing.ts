import type { OutgoingPolicy } from "../../services/shared/outgoing/policy.js";

/** The policy of tests: servers of their own are on loopback. */
export const LOOPBACK: OutgoingPolicy = { allow: ["127.0.0.0/8", "::1"], proxy: "" };
