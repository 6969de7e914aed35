// @ts-nocheck
/** jest, however it is started: its configuration gets our reporter next to those that the person chose. */
const Module = require("node:module");
const path = require("node:path");
const report = require("./report.cjs");

const load = Module._load;
let wrapped = null;
Module._load = function (...args) {
  const loaded = load.apply(this, args);
  if (args[0] !== "jest-config" || typeof loaded?.readConfigs !== "function") return loaded;
  wrapped ??= { ...loaded, readConfigs: (...more) => loaded.readConfigs(...more).then(withOurs) };
  return wrapped;
};

function withOurs(configs) {
  try {
    const { globalConfig } = configs;
    report.take();
    const chosen = globalConfig.reporters ?? [["default", {}]];
    const reporters = [...chosen, [path.join(__dirname, "jest.cjs"), {}]];
    return { ...configs, globalConfig: Object.freeze({ ...globalConfig, reporters }) };
  } catch {
    return configs;
  }
}
