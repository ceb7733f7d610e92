//! The stages of the front end, one behind the other.

use super::report::{Spans, diagnostic, missing_header};
use super::sources::{Disk, HEADERS, Mirror};
use super::tokens::Tokens;
use super::{Reading, copy, nesting};
use crate::tree::files::Files;
use crate::tree::options::{DataModel, Edition, Options};
use crate::tree::presumed::{LineMark, LineMarks};
use cssame_diagnostics::{Code, Diagnostic};
use cssame_source::{FileId, SourceMap, Span};
use rucc_base::Interner;
use rucc_diag::{Diagnostic as Read, SourceMap as ReadSources};
use rucc_lex::{Convert, Keywords, Options as LexOptions, convert};
use rucc_pp::{Context as PreprocessorContext, LineDirective, Predef, Preprocessor, Timestamp, Tok};
use rucc_session::{Preinclude, SearchPath, Std};
use rucc_target::{TargetInfo, Triple};

/// Errors behind which a stage gives up.
const ERRORS: usize = 100;

/// What the stages share.
struct Settings {
    target: TargetInfo,
    std: Std,
    gnu: bool,
    wraps: bool,
}

fn settings(options: &Options) -> Option<Settings> {
    let triple = match options.data_model {
        DataModel::Lp64 => "x86_64-unknown-linux-gnu",
        DataModel::Ilp32 => "i686-unknown-linux-gnu",
    };
    let std = match options.standard.edition {
        Edition::C89 => Std::C89,
        Edition::C99 => Std::C99,
        Edition::C11 => Std::C11,
        Edition::C17 => Std::C17,
        Edition::C23 => Std::C23,
    };
    let target = TargetInfo::new(triple.parse::<Triple>().ok()?);
    Some(Settings { target, std, gnu: options.standard.gnu, wraps: options.wraps })
}

/// The diagnostics of one run.
struct Messages<'a> {
    reading: &'a mut Reading,
    main: FileId,
}

impl Messages<'_> {
    /// Takes over what a stage says; whether one of it is an error.
    fn take(&mut self, read: &[Read], spans: &Spans<'_>) -> bool {
        let main = Span::new(self.main, 0, 0);
        let files = self.reading.files.clone();
        let is_user = move |span: Span| files.contains(&span.file);
        self.reading.diagnostics.extend(read.iter().filter_map(|one| diagnostic(one, spans, main, &is_user)));
        read.iter().any(|one| one.severity.is_fatal())
    }

    fn error(&mut self, code: Code, span: Span, message: &str) {
        self.reading.diagnostics.push(Diagnostic::error(code, span, message, ""));
    }
}

/// Reads `main` into `reading`.
pub fn run(sources: &mut SourceMap, main: FileId, files: &dyn Files, options: &Options, reading: &mut Reading) {
    let start = Span::new(main, 0, 0);
    let mut messages = Messages { reading, main };
    let Some(settings) = settings(options) else { return };
    if let Some(at) = nesting::too_deep_text(sources.file(main).text().as_bytes()) {
        return messages.error(Code::NestingTooDeep, Span::new(main, at, at + 1), "brackets are nested too deeply");
    }
    let mut names = Interner::new();
    let keywords = Keywords::new(&mut names, settings.std, settings.gnu);
    let mut read_sources = ReadSources::new();
    let preprocessed = preprocess(sources, main, files, options, &settings, &mut names, &mut read_sources);
    let Some(Preprocessed { tokens, said, lines }) = preprocessed else {
        return messages.error(Code::FileTooLarge, start, "the program is too large");
    };
    let mirror = Mirror::new(&read_sources, sources, main, &mut messages.reading.files);
    drop(read_sources);
    let marks = lines.into_iter().filter_map(|line| {
        let (span, _) = mirror.span(line.span)?;
        let name = line.file.map(|name| names.resolve(name).trim_matches('"').to_owned());
        Some(LineMark { span, line: line.line, name })
    });
    messages.reading.lines = LineMarks::new(marks.collect());
    messages.reading.missing.extend(said.iter().filter_map(missing_header));
    if messages.take(&said, &Spans::Files(&mirror)) {
        return;
    }
    let stage = Stage { settings: &settings, keywords: &keywords, names: &names, mirror: &mirror };
    understand(&stage, tokens, &mut messages);
}

/// What the stages behind the preprocessor take from before it.
struct Stage<'a> {
    settings: &'a Settings,
    keywords: &'a Keywords,
    names: &'a Interner,
    mirror: &'a Mirror,
}

/// Parses tokens and gives them types.
fn understand(stage: &Stage<'_>, read: Vec<Tok>, messages: &mut Messages<'_>) {
    let Stage { settings: Settings { target, std, gnu, wraps }, keywords, names, mirror } = *stage;
    let start = Span::new(messages.main, 0, 0);
    let mut converted = Vec::with_capacity(read.len());
    let Ok(places) = Tokens::new(&read, mirror, start, &mut converted) else {
        return messages.error(Code::FileTooLarge, start, "the program is too large");
    };
    drop(read);
    let spans = Spans::Tokens(&places);
    let context = Convert { keywords, interner: names, target, std: *std, gnu: *gnu, pedantic: false };
    let (tokens, said) = convert(&converted, &context);
    drop(converted);
    let failed = messages.take(&said, &spans);
    if let Some(span) = nesting::too_deep(&tokens.tokens) {
        let place = places.place(span).map_or(start, |place| place.used);
        return messages.error(Code::NestingTooDeep, place, "expressions or statements are nested too deeply");
    }
    let mut context = rucc_parse::Context::new(names, *std);
    context.gnu = *gnu;
    context.error_limit = ERRORS;
    let parsed = rucc_parse::parse(&tokens, context);
    if messages.take(&parsed.diagnostics, &spans) || failed {
        return;
    }
    let mut context = rucc_sema::Context::new(names, target, *std);
    context.gnu = *gnu;
    context.permissive = true;
    context.error_limit = ERRORS;
    let mut checker = rucc_sema::Checker::new(&parsed.ast, context);
    checker.check_unit();
    let checked = checker.finish();
    if !messages.take(&checked.diagnostics, &spans) {
        let (main, pragmas) = (messages.main, &tokens.pragmas[..]);
        let input = copy::Input { checked: &checked, names, target, places: &places, main, pragmas, wraps: *wraps };
        messages.reading.unit = Some(copy::copy(&input));
    }
}

/// What the preprocessor makes of a text.
struct Preprocessed {
    tokens: Vec<Tok>,
    said: Vec<Read>,
    lines: Vec<LineDirective>,
}

/// Runs the preprocessor. `None`: the text does not fit into 32 bits.
fn preprocess(
    sources: &SourceMap,
    main: FileId,
    files: &dyn Files,
    options: &Options,
    settings: &Settings,
    names: &mut Interner,
    read_sources: &mut ReadSources,
) -> Option<Preprocessed> {
    let file = sources.file(main);
    let main = read_sources.add(file.name(), file.text().as_bytes().to_vec()).ok()?;
    let disk = Disk::new(files);
    let mut search = SearchPath::new();
    for directory in &options.include {
        search.push_bracket(directory.clone());
    }
    search.push_system(HEADERS);
    let mut context = PreprocessorContext::new(names, read_sources, &disk, &search);
    context.lex = LexOptions::for_dialect(settings.std, settings.gnu, false);
    let predefined = Predef {
        std: settings.std,
        gnu_extensions: settings.gnu,
        timestamp: Timestamp::from_unix(0),
        defines: options.define.clone(),
        undefines: options.undefine.clone(),
        ..Predef::new()
    };
    let mut preprocessor = Preprocessor::new();
    preprocessor.predefine(&settings.target, &predefined, &mut context).ok()?;
    let includes: Vec<Preinclude> =
        options.preinclude.iter().map(|name| Preinclude { name: name.clone(), macros_only: false }).collect();
    let mut tokens = Vec::new();
    preprocessor.preinclude(&includes, &mut tokens, &mut context).ok()?;
    tokens.extend(preprocessor.run(main, &mut context));
    let lines = preprocessor.line_directives().to_vec();
    Some(Preprocessed { tokens, said: preprocessor.take_diagnostics(), lines })
}
