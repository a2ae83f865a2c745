import { buildPackage, type FormatName } from "../../../clients/packages/build.js";
import { CONTENTS } from "./contents.js";

process.stdout.write(buildPackage(process.argv[2] as FormatName, CONTENTS).sha256);
