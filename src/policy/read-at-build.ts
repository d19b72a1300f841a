/**
 * The texts of YAML that were read when the bundle was made: the SHA-256 of a text, in hexadecimal → its data as JSON. It is empty here:
 * `build/bundle.js` puts the texts of the package into the bundle. They are a part of the program, like the code beside them.
 */
export const readAtBuild: ReadonlyMap<string, string> = new Map()
