/** The frame, whose file loads while the worker starts. React delays components behind `lazy` by 300 ms. */
import type { ComponentProps } from 'react'
import { Loading } from '../parts/page/loading.tsx'
import { createShared } from '../shared.ts'

type FrameFile = typeof import('./frame.tsx')

const state = createShared<{ file?: FrameFile; error?: unknown }>({})
import('./frame.tsx').then(
  (file) => state.set({ file }),
  (error: unknown) => state.set({ error }),
)

export function LoadedFrame(props: ComponentProps<FrameFile['default']>) {
  const { file, error } = state.useValue()
  if (error) throw error
  return file ? <file.default {...props} /> : <Loading />
}
