export { refusal as refused } from "../../../../support/platforms/refusal.js";
