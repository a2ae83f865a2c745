/** This program's version; a test holds it to package.json. */
export const VERSION = "0.2.0";
