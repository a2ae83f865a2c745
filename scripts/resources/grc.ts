import type { Resource } from "./resource.js";

const KEPT = "managed by the platform's administrators";
const IN_LIBRARIES = "comes with the libraries that administrators load";

/** The resources of governance, risk and compliance. */
export const grc: readonly Resource[] = [
  { name: "account", list: "one's own account only", read: ["whoami"], create: KEPT, update: KEPT, delete: KEPT },
  {
    name: "tenant",
    list: ["list_tenants"],
    read: "a row of list_tenants is all of it",
    create: "no tool manages tenants",
    update: "no tool manages tenants",
    delete: "no tool manages tenants",
    besides: ["search_grc"],
  },
  {
    name: "framework",
    list: ["list_frameworks"],
    read: ["get_framework", "get_framework_tree"],
    create: IN_LIBRARIES,
    update: IN_LIBRARIES,
    delete: IN_LIBRARIES,
  },
  {
    name: "control",
    list: ["list_controls"],
    read: ["get_control"],
    create: ["create_control"],
    update: ["update_control", "set_control_maturity"],
    delete: ["delete_control"],
  },
  {
    name: "requirement assessment",
    list: ["list_requirement_assessments"],
    read: ["get_requirement_assessment"],
    create: "made by the platform with its audit",
    update: ["link_controls_to_requirement", "set_control_maturity"],
    delete: "goes with its audit alone",
  },
  {
    name: "evidence",
    list: ["list_evidence"],
    read: ["get_evidence"],
    create: ["create_evidence"],
    update: ["update_evidence"],
    delete: "not yet built",
  },
  {
    name: "risk scenario",
    list: ["list_risk_scenarios"],
    read: ["get_risk_scenario"],
    create: "not yet built",
    update: "not yet built",
    delete: "not yet built",
  },
  {
    name: "attack outcome",
    list: ["list_attack_outcomes"],
    read: ["get_attack_outcome"],
    create: "made in the platform's workshops",
    update: "made in the platform's workshops",
    delete: "made in the platform's workshops",
  },
];
