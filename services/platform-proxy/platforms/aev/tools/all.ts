import type { Binding } from "../../../binding.js";
import { accountBindings } from "./account-service.js";
import { assetBindings } from "./asset-service.js";
import { findingBindings } from "./finding-service.js";
import { injectBindings } from "./inject-service.js";
import { scenarioBindings } from "./scenario-service.js";
import { simulationBindings } from "./simulation-service.js";
import { techniqueBindings } from "./technique-service.js";

/** How every tool of the aev server is answered by an OpenAEV-compatible platform. */
export const aevBindings: readonly Binding[] = [
  ...accountBindings,
  ...scenarioBindings,
  ...simulationBindings,
  ...injectBindings,
  ...assetBindings,
  ...techniqueBindings,
  ...findingBindings,
];
