/**
 * `bun run clients [words]`: installs every client of the matrix, or those with a word in language and name, tries
 * each cell, and writes the table of docs/reference/compatibility.md. Linux, as root. With `--remote` the values are put in by
 * the resolver, and nothing is written.
 */
import { parseArgs } from 'node:util'
import { runMatrix } from './matrix.ts'

const { values, positionals } = parseArgs({
  options: { remote: { type: 'boolean', default: false } },
  allowPositionals: true,
})
process.exitCode = (await runMatrix(positionals, values.remote)) === 0 ? 0 : 1
