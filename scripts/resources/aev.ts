import type { Resource } from "./resource.js";

const KEPT = "managed by the platform's administrators";
const RUNS = "comes of runs alone";

/** The resources of exposure validation. */
export const aev: readonly Resource[] = [
  { name: "account", list: "one's own account only", read: ["whoami"], create: KEPT, update: KEPT, delete: KEPT },
  {
    name: "scenario",
    list: ["search_scenarios"],
    read: ["get_scenario"],
    create: ["create_scenario"],
    update: ["update_scenario"],
    delete: ["delete_scenario"],
    besides: ["launch_scenario"],
  },
  {
    name: "simulation",
    list: ["search_simulations"],
    read: ["get_simulation", "get_simulation_results"],
    create: ["launch_scenario"],
    update: ["set_simulation_status"],
    delete: "not yet built",
  },
  {
    name: "inject",
    list: ["search_injects"],
    read: "not yet built",
    create: "not yet built",
    update: "not yet built",
    delete: "not yet built",
  },
  {
    name: "finding",
    list: ["search_findings"],
    read: "a row of search_findings is all of it",
    create: RUNS,
    update: RUNS,
    delete: "not yet built",
  },
  {
    name: "endpoint",
    list: ["search_endpoints"],
    read: "not yet built",
    create: "not yet built",
    update: "not yet built",
    delete: "not yet built",
  },
  {
    name: "attack technique",
    list: ["search_attack_patterns"],
    read: "not yet built",
    create: KEPT,
    update: KEPT,
    delete: KEPT,
  },
];
