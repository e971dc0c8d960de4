/** This version with one more migration: other running processes are of the version without it. */
import './later.ts'

await import('../../../src/main.ts')
