import type { Column } from "./kinds.js";

/** Why no tool does something with a kind. The table names no tool; a reason is not shown if a tool does it. */
export interface Reason {
  readonly server: string;
  readonly kinds: readonly string[];
  readonly reasons: Readonly<Partial<Record<Column, string>>>;
}

const changes = (reason: string) => ({ create: reason, update: reason, delete: reason });
const KEPT = changes("managed by the platform's administrators");
const ROW = "a row of the list has all fields";
const OWN_ACCOUNT = { ...KEPT, list: "the caller's own account only" };
const AS_ENTITY = { read: "as an entity", ...changes("as an entity") };
const AS_CONTAINER = {
  list: "as a container",
  read: "as a container",
  update: "as a container",
  delete: "as a container",
};

/** The reasons, by server. */
export const REASONS: readonly Reason[] = [
  { server: "cti", kinds: ["account"], reasons: OWN_ACCOUNT },
  {
    server: "cti",
    kinds: ["campaign", "course of action", "incident", "infrastructure", "intrusion set", "location", "malware"],
    reasons: AS_ENTITY,
  },
  {
    server: "cti",
    kinds: ["attack pattern", "identity", "threat actor", "tool", "vulnerability"],
    reasons: AS_ENTITY,
  },
  { server: "cti", kinds: ["case", "grouping", "opinion", "report", "task"], reasons: AS_CONTAINER },
  { server: "cti", kinds: ["container"], reasons: { create: "each kind of container has its own tool" } },
  { server: "cti", kinds: ["note"], reasons: { read: "as a container" } },
  {
    server: "cti",
    kinds: ["external reference"],
    reasons: { read: ROW, delete: "other objects may have the same reference" },
  },
  {
    server: "cti",
    kinds: ["label"],
    reasons: {
      read: "a label is a word",
      create: "the platform creates it when it is first added to an object",
      delete: KEPT.delete,
    },
  },
  { server: "cti", kinds: ["kill chain phase", "marking", "vocabulary value"], reasons: { ...KEPT, read: ROW } },
  {
    server: "cti",
    kinds: ["entity type", "filter key", "relationship type"],
    reasons: { read: ROW, ...changes("part of the platform's schema") },
  },
  { server: "aev", kinds: ["account"], reasons: OWN_ACCOUNT },
  { server: "aev", kinds: ["attack pattern"], reasons: KEPT },
  {
    server: "aev",
    kinds: ["domain", "kill chain phase", "label", "mitigation", "player", "team"],
    reasons: { ...KEPT, read: ROW },
  },
  {
    server: "aev",
    kinds: ["expectation"],
    reasons: { read: ROW, create: "runs create it", delete: "deleted with its inject" },
  },
  {
    server: "aev",
    kinds: ["injector contract"],
    reasons: changes("created, changed and deleted with its injector or payload"),
  },
  {
    server: "aev",
    kinds: ["lesson"],
    reasons: {
      read: ROW,
      create: "created by applying a lessons template",
      update: "in its template",
      delete: "on the platform only",
    },
  },
  { server: "aev", kinds: ["coverage"], reasons: { read: ROW, ...changes("counted from what ran") } },
  {
    server: "aev",
    kinds: ["lessons team"],
    reasons: { list: "with the lessons", read: "with the lessons", create: "as an update", delete: "as an update" },
  },
  {
    server: "aev",
    kinds: ["lessons answer"],
    reasons: { read: ROW, ...changes("each player gives their own answers") },
  },
  {
    server: "aev",
    kinds: ["variable"],
    reasons: { read: ROW, create: "as an update, which creates missing variables" },
  },
  { server: "grc", kinds: ["account"], reasons: OWN_ACCOUNT },
  { server: "grc", kinds: ["organization", "tenant"], reasons: KEPT },
  {
    server: "grc",
    kinds: ["framework", "maturity level", "reference control", "requirement"],
    reasons: { read: ROW, ...changes("part of the libraries that administrators load") },
  },
  { server: "grc", kinds: ["cve"], reasons: changes("part of the feeds that administrators run") },
  {
    server: "grc",
    kinds: ["assessment", "risk assessment"],
    reasons: {
      read: ROW,
      create: "on the platform, where people choose its members or its matrix",
      update: "on the platform, where people lock and review it",
      delete: "on the platform only, because this also deletes all its results",
    },
  },
  {
    server: "grc",
    kinds: ["requirement assessment"],
    reasons: { create: "the platform creates it with its audit", delete: "deleted with its audit" },
  },
  {
    server: "grc",
    kinds: ["quantified scenario", "risk quantification"],
    reasons: { read: ROW, ...changes("the platform simulates it") },
  },
  { server: "grc", kinds: ["attack outcome"], reasons: changes("created in the platform's workshops") },
  {
    server: "core",
    kinds: ["assignment"],
    reasons: { delete: "an update disables it; its runs still refer to it" },
  },
  {
    server: "core",
    kinds: ["run"],
    reasons: {
      create: "created when an agent or an assignment is triggered",
      delete: "deleted 90 days after its trigger",
    },
  },
  {
    server: "core",
    kinds: ["agent trace"],
    reasons: {
      create: "agents send it over OTLP",
      update: "traces do not change",
      delete: "deleted when its retention ends",
    },
  },
  {
    server: "core",
    kinds: ["usage"],
    reasons: { list: "one for each owner", ...changes("counted when objects, documents, runs and spans change") },
  },
];
