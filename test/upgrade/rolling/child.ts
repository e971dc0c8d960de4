/** This version with a migration more: what runs meanwhile is of before it. */
import './later.ts'

await import('../../../src/main.ts')
