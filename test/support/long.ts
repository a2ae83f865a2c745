/** Why the long suites of the console and of packages do not run; undefined in npm run test:console, where they do. */
export const notLong = process.env.LONG_SUITES === undefined ? "long: npm run test:console" : undefined;
