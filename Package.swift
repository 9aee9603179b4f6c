// swift-tools-version: 6.2
import PackageDescription

// One set of sources, two ways to build them:
//   swift build -c release --traits Embedded --product boxretry   the shipped library: Embedded Swift, no runtime
//   swift test                                                    the same sources as ordinary Swift, with all checks
// Every setting that only the shipped library needs hangs on the trait: linker flags and sanitizers exclude each other.
let shipped: BuildSettingCondition = .when(traits: ["Embedded"])

let ordinarySwiftSettings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .treatAllWarnings(as: .error),
]

let swiftSettings: [SwiftSetting] =
    ordinarySwiftSettings + [
        .enableExperimentalFeature("Embedded", shipped),
        .unsafeFlags(["-wmo", "-Xfrontend", "-function-sections"], shipped),
        // The checks do nothing in Embedded mode, but are called all the same.
        .unsafeFlags(["-enforce-exclusivity=unchecked"], shipped),
        // Without it, a hash of the compiler's command line, paths included, gets into the library.
        .unsafeFlags(["-Xfrontend", "-disable-incremental-llvm-codegen"], shipped),
    ]

/// A decision takes 4 % more instructions than with -O, and the library is 7 KB smaller.
let smallSettings: [SwiftSetting] = swiftSettings + [.unsafeFlags(["-Osize"], shipped)]

let cSettings: [CSetting] = [
    .unsafeFlags(["-std=gnu11", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fvisibility=hidden"]),
    .unsafeFlags(["-Os", "-ffunction-sections", "-fdata-sections", "-ftls-model=initial-exec"], shipped),
]

func linker(_ options: String...) -> [String] {
    options.flatMap { ["-Xlinker", $0] }
}

let linkerSettings: [LinkerSetting] = [
    .unsafeFlags(
        ["-use-ld=lld"]
            + linker("-soname=libboxretry.so.0", "--version-script=abi/boxretry.map", "--no-undefined-version")
            + linker("-z", "defs", "-z", "now", "-z", "relro", "-z", "noexecstack", "-z", "nodelete")
            + linker("--gc-sections", "--icf=all", "--hash-style=gnu", "-Bsymbolic", "--as-needed"),
        shipped)
]

let package = Package(
    name: "boxretry",
    products: [
        .library(name: "boxretry", type: .dynamic, targets: ["BoxRetry"])
    ],
    traits: [
        .trait(name: "Embedded", description: "Build the shipped library: Embedded Swift, no Swift runtime.")
    ],
    targets: [
        // The public header, as Swift sees it.
        .systemLibrary(name: "CBoxRetry", path: "include"),
        // All C that is not in a header of somebody else.
        .target(
            name: "CShims", cSettings: cSettings + [.headerSearchPath("../../include")],
            linkerSettings: [.linkedLibrary("curl")]),
        // Decisions: pure, imports nothing.
        .target(name: "RetryCore", swiftSettings: smallSettings),
        // What touches the world: time, threads, libcurl.
        .target(name: "CurlEngine", dependencies: ["RetryCore", "CShims"], swiftSettings: smallSettings),
        // The C interface.
        .target(
            name: "BoxRetry", dependencies: ["RetryCore", "CurlEngine", "CShims", "CBoxRetry"],
            swiftSettings: smallSettings, linkerSettings: linkerSettings),
        // What the test targets share.
        .target(name: "TestSupport", path: "Tests/TestSupport", swiftSettings: ordinarySwiftSettings),
        .testTarget(
            name: "CurlEngineTests", dependencies: ["CurlEngine", "RetryCore", "CShims"],
            swiftSettings: ordinarySwiftSettings),
        .testTarget(
            name: "RetryCoreTests", dependencies: ["RetryCore", "TestSupport"], swiftSettings: ordinarySwiftSettings),
        .testTarget(
            name: "BoxRetryTests", dependencies: ["BoxRetry", "CurlEngine", "RetryCore", "CBoxRetry", "TestSupport"],
            swiftSettings: ordinarySwiftSettings),
        // Runs the sequences of the model test through the core, always as ordinary Swift. (SwiftPM would link a program
        // as an Embedded one even where the condition of that setting does not hold.)
        .executableTarget(
            name: "ModelRunner", dependencies: ["RetryCore"], path: "Tests/model/swift",
            swiftSettings: ordinarySwiftSettings),
    ]
)
