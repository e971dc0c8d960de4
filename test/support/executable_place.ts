import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Where test/binary/executable.ts builds: a place of this test process, removed at its end. */
export const executablePlace = join(tmpdir(), `cr-executable-${process.pid}`)
