/** A component whose file loads while the worker starts. What `lazy` suspends, React holds back for 300 ms. */
import type { ComponentType } from 'react'
import { Loading } from '../parts/page/loading.tsx'
import { shared } from '../shared.ts'

type File<P> = { default: ComponentType<P> }

export function loadedComponent<P extends object>(load: () => Promise<File<P>>) {
  const state = shared<{ file?: File<P>; error?: unknown }>({})
  load().then(
    (file) => state.set({ file }),
    (error: unknown) => state.set({ error }),
  )
  return function Loaded(props: P) {
    const { file, error } = state.useValue()
    if (error) throw error
    return file ? <file.default {...props} /> : <Loading />
  }
}
