import type { Noun } from "./command.js";

/** Every noun of the administration client. */
export const NOUNS: readonly Noun[] = [
  {
    noun: "users",
    doc: "Who may call: people and service accounts.",
    load: async () => (await import("./commands/users.js")).users,
  },
  {
    noun: "groups",
    doc: "Groups of users, which objects can be shared with.",
    load: async () => (await import("./commands/groups.js")).groups,
  },
  {
    noun: "keys",
    doc: "API keys: make, list, rotate, end.",
    load: async () => (await import("./commands/keys.js")).keys,
  },
  {
    noun: "settings",
    doc: "The switches of the service.",
    load: async () => (await import("./commands/settings.js")).settings,
  },
  {
    noun: "platforms",
    doc: "The platforms, and the tokens by which they register.",
    load: async () => (await import("./commands/platforms.js")).platforms,
  },
  {
    noun: "usage",
    doc: "What is stored, and how much more may be.",
    load: async () => (await import("./commands/usage.js")).usage,
  },
  {
    noun: "audit",
    doc: "Who did what, and when: administration, writes and refusals.",
    load: async () => (await import("./commands/audit.js")).audit,
  },
  {
    noun: "backup",
    doc: "Copies of the embedded store, on the machine where it is.",
    load: async () => (await import("./commands/backup.js")).backup,
  },
  {
    noun: "secrets",
    doc: "The keys that seal secrets in the store, on the machine where it is.",
    load: async () => (await import("./commands/secrets.js")).secrets,
  },
  {
    noun: "clients",
    doc: "How MCP clients are told of this service.",
    load: async () => (await import("./commands/clients.js")).clients,
  },
  {
    noun: "doctor",
    doc: "What is wrong with this installation, and what to do about it.",
    load: async () => (await import("./commands/doctor.js")).doctor,
  },
  {
    noun: "tools",
    doc: "Call tools, as an MCP client does.",
    load: async () => (await import("./commands/tools.js")).tools,
  },
];
