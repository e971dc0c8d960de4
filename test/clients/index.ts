/**
 * `bun run clients [words]`: installs all clients, or those with a word in language and name, runs each cell, and writes
 * the tables of docs/reference/compatibility.md. Needs Linux and root. With `--remote` the resolver injects the values,
 * and nothing is written.
 */
import { parseArgs } from 'node:util'
import { runMatrix } from './matrix.ts'

const { values, positionals } = parseArgs({
  options: { remote: { type: 'boolean', default: false } },
  allowPositionals: true,
})
process.exitCode = (await runMatrix(positionals, values.remote)) === 0 ? 0 : 1
