/** This version with one more migration: processes that run meanwhile are of the version without it. */
import './later.ts'

await import('../../../src/main.ts')
