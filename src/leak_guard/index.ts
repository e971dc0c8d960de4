/** The leak guard: the exports for other modules. */
export {
  type CallGuard,
  type Guard,
  prepareGuard,
  prepareGuardInSteps,
  type StandsFor,
} from './guard.ts'
export type { StreamOptions } from './guard_stream.ts'
export type { Frames } from './hold.ts'
export { type MadeBytes, MIN_USED, type NamedBytes } from './matching/guarded.ts'
