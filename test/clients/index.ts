/**
 * `bun run clients [words]`: installs every client of the matrix, or those with a word in language and name, tries
 * each cell, and writes the table of docs/compatibility.md. Linux, as root.
 */
import { runMatrix } from './matrix.ts'

process.exitCode = (await runMatrix(process.argv.slice(2))) === 0 ? 0 : 1
