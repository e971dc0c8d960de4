/** Runs around every `bun test`: one PostgreSQL cluster and one executable at most, gone at the end. */
import { afterAll, setDefaultTimeout } from 'bun:test'
import { rmSync } from 'node:fs'
import { stopCluster } from './database.ts'
import { executablePlace } from './executable_place.ts'

afterAll(stopCluster)
afterAll(() => rmSync(executablePlace, { recursive: true, force: true }))

/** Milliseconds: the machines of CI are slow, and a hung test is still found. */
setDefaultTimeout(60_000)
