import { lazy } from '../../model/lazy.ts'
import { publicText, type PublicText } from '../public-text.ts'
import type { DocumentSource } from './source.ts'
import type { OpenApiDocument } from './types.ts'

const documentModule = lazy(() => import('./document.ts'))
const llmsModule = lazy(() => import('./llms.ts'))

interface Made {
  readonly document: OpenApiDocument
  /** the document as JSON */
  readonly text: PublicText
}

/** The document, with its text. It is made when it is first asked for: a start should not wait for it. */
export class ReferenceDocument {
  readonly #source: () => DocumentSource
  #made: Promise<Made> | undefined
  #madeFor: string | undefined

  /** @param source what it is made from; another policy makes another document */
  constructor(source: () => DocumentSource) {
    this.#source = source
  }

  async document(): Promise<OpenApiDocument> {
    return (await this.#make()).document
  }

  /** The document as JSON. */
  async text(): Promise<PublicText> {
    return (await this.#make()).text
  }

  /** What an agent needs besides the base URL and a token. @param url the public URL */
  async llmsText(url: string): Promise<PublicText> {
    const { createLlmsText } = await llmsModule()
    return publicText('text/plain; charset=utf-8', createLlmsText(await this.document(), url))
  }

  #make(): Promise<Made> {
    const source = this.#source()
    if (this.#made === undefined || this.#madeFor !== source.engine.hash) {
      this.#madeFor = source.engine.hash
      this.#made = this.#create(source)
    }
    return this.#made
  }

  async #create(source: DocumentSource): Promise<Made> {
    const { createDocument } = await documentModule()
    const document = createDocument(source)
    return { document, text: publicText('application/json; charset=utf-8', JSON.stringify(document)) }
  }
}
