/** Runs around every `bun test`: one PostgreSQL cluster at most, stopped at the end. */
import { afterAll } from 'bun:test'
import { stopCluster } from './database.ts'

afterAll(stopCluster)
