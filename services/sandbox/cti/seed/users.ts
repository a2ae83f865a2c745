import type { SandboxUser } from "../account.js";

/** The accounts that the sandbox has where none are given. */
export const SANDBOX_USERS: readonly SandboxUser[] = [
  {
    email: "admin@sallyport.example",
    name: "Administrator",
    capabilities: ["BYPASS"],
    clearance: ["TLP:RED", "PAP:RED"],
    maxConfidence: 100,
  },
  {
    email: "analyst@sallyport.example",
    name: "Analyst",
    capabilities: ["KNOWLEDGE", "KNOWLEDGE_KNPARTICIPATE", "KNOWLEDGE_KNUPDATE"],
    clearance: ["TLP:AMBER", "PAP:AMBER"],
    maxConfidence: 80,
  },
  {
    email: "reader@sallyport.example",
    name: "Reader",
    capabilities: ["KNOWLEDGE"],
    clearance: ["TLP:GREEN"],
    maxConfidence: 50,
  },
  { email: "nobody@sallyport.example", name: "Nobody", capabilities: [], clearance: [], maxConfidence: 50 },
];
